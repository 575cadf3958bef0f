-- Each call wrote a page of its own in an index of random ids, a third of the cost of its row. Calls of one request or trace
-- are looked for seldom, and found by reading all.
DROP INDEX IF EXISTS calls_request;
DROP INDEX IF EXISTS calls_trace;
