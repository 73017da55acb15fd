CREATE TABLE answers (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL, settled INTEGER NOT NULL,
  query TEXT NOT NULL, passages TEXT NOT NULL, prompt_sha TEXT NOT NULL, model TEXT NOT NULL,
  parameters TEXT NOT NULL, sample INTEGER NOT NULL,
  grades TEXT, reason TEXT NOT NULL, raw TEXT NOT NULL,
  prompt_tokens INTEGER, completion_tokens INTEGER, price REAL, seconds REAL NOT NULL,
  request_id TEXT NOT NULL, served_model TEXT NOT NULL, answered_at TEXT NOT NULL,
  finish TEXT, logprobs TEXT
);
CREATE INDEX answers_by_key ON answers (key, settled);
CREATE INDEX answers_by_parameters ON answers (model, prompt_sha, parameters);
CREATE TRIGGER answers_never_change BEFORE UPDATE ON answers
  BEGIN SELECT RAISE(ABORT, 'answers are only added'); END;
CREATE TRIGGER answers_never_go BEFORE DELETE ON answers
  BEGIN SELECT RAISE(ABORT, 'answers are only added'); END;
