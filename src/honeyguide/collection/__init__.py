"""Reading a collection: lists, search, review, what is left to find, directory, exports."""
