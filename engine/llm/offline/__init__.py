"""Answers, entities and keywords without a model, by rules over words and vectors.

An answer quotes sentences of its sources:

1. A source is split into sentences; a chat message is one sentence (`candidates`).
2. A question is split at "and who", "but when", …; each clause is answered on its own (`questions`).
3. A sentence scores the share of the clause's words that it covers, plus its similarity to the clause, plus or minus
   a little for the type of answer (price, time, person, …), plus a little if it is newer (`ranking`).
4. It answers only if the words that it covers, once with and once without names, and its similarity are high enough on
   average. Names that it leaves out count against it. It must have every id of the clause (17-B), and for a question
   for yes or no two of its words (`ranking`).
5. Chosen are the best sentence, the one that carries the other half of the clause, and those nearly as good. Of these
   remain the ones with the right type of answer; if none has it, its neighbor that has it is added (`quotes`).
6. A pronoun or a short remark is quoted with the sentence before it, a title with the text after it (`quotes`).

Imports `llm.base`, `llm.prompts`, `text`, models and `usage`.
"""
