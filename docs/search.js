/* How the site's search ranks what it finds: by Sphinx's own scores, every page before every decision record.
   Sphinx puts this into language_data.js, where it replaces its default as a whole. */
var Scorer = {
  // far below any sum of the numbers here
  score: ([docname, title, anchor, description, score]) =>
    docname.startsWith("decisions/") ? score - 1000 : score,

  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
