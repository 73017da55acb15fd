import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, plain } from './load.mjs';

const { linear, nice, scoreRange } = load(['linear', 'nice', 'scoreRange'], ['format.js', 'scale.js']);

test('a scale without extent maps its one value to a finite place', () => {
  assert.equal(linear(2, 2, 0, 100)(2), 0);
  assert.equal(linear(0, 10, 100, 0)(2.5), 75);
});

test('ticks are round, ascend, and cover the range', () => {
  for (const [low, high] of [[0.13, 0.87], [0, 1], [-0.02, 0.031], [1e-9, 3e-9], [17, 90000], [0.5, 0.5]]) {
    const [first, last, ticks] = plain(nice(low, high));
    assert.ok(ticks.length >= 2 && ticks.length <= 9, `${low} to ${high}: ${ticks}`);
    assert.equal(first, ticks[0]);
    assert.equal(last, ticks.at(-1));
    for (let i = 1; i < ticks.length; i += 1) assert.ok(ticks[i] > ticks[i - 1]);
    assert.ok(first <= Math.min(low, high) + 1e-12);
    assert.ok(last >= Math.max(low, high) - 1e-9);
  }
});

test('the range of scores ignores what is missing, and stands without any', () => {
  assert.deepEqual(plain(scoreRange([null])), [0, 1, [0, 0.5, 1]]);
  const [low, high] = plain(scoreRange([{ mean: 0.5, low: null, high: null }, { mean: 0.6, low: 0.4, high: 0.7 }]));
  assert.ok(low <= 0.4 && low >= 0 && high >= 0.7 && high <= 1);
});
