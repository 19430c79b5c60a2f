"""Words taken away from stored answers, and posted answers that are to be corrected. Imports the tables of `store`."""
