import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './load.mjs';

const { sideOf, setData } = load(['sideOf']);

test('a query whose graded text is below the grade that answers has no answer; without graded text nobody knows', () => {
  const evidence = [[[0, 0, 9, 3, null]], [[0, 0, 9, 1, null]], [], [[0, 0, 9, 4, null]]];
  const sides = (rules) => {
    setData({ queries: { answerable: [true, true, true, false] }, detail: { evidence }, record: { config: { relevance: rules } } });
    return [0, 1, 2, 3].map((query) => sideOf(query) ?? null);
  };
  assert.deepEqual(sides({ answerable_from: 2 }), ['answerable', 'unanswerable', null, 'unanswerable']);
  assert.deepEqual(sides(undefined), ['answerable', 'answerable', null, 'unanswerable']);
});
