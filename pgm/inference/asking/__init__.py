"""What every model can be asked, under the user's names: questions, compiled queries, rows of frames."""
