"""Decide which of several statements replaces which other one: the same subject and attribute, later, with a new value.

1. A statement is split into clauses, each with its values (dates, times, prices, numbers, versions, codes), the words
   of its subject, and cues that something changed (`values`, `cues`, `clauses`).
2. A later clause replaces an earlier one if it names the former value ("instead of"), if it has a cue and another value
   of the same kind, if it says that the event is canceled, or if both are the same but for the value (`relation`).
3. Words that distinguish the subjects ("the release of the app", "of the site"), another person's plan, a remark on a
   single day of something that recurs, a proposal and a question never replace anything (`relation`).
4. A short contradiction ("no, Brandt builds it") is about what the message before it is about (`clauses`).

Precision matters more than recall. Pure; times, rooms and texts are those of passages that the asker may read.
"""
