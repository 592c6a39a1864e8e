-- A word without accents may be a word of the model's vocabulary, which the search does not correct: "resume" for "résumé".
-- This index finds the words that have accents.
CREATE INDEX words_accented ON words (tenant_id, folded) WHERE word <> folded;
