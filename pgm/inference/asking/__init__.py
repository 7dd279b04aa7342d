"""What every model can be asked, in the user's names: questions, compiled queries, rows of frames."""
