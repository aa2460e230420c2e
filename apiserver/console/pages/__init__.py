"""pages: the files of the console, and the headers with which they are served."""
