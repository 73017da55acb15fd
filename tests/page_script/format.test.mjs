import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './load.mjs';

const { fixed, signed, percent, whole, amount, seconds, range, chance, count } = load(
  ['fixed', 'signed', 'percent', 'whole', 'amount', 'seconds', 'range', 'chance', 'count'], ['format.js']);

test('a missing number is a dash, never a zero', () => {
  for (const of of [fixed, signed, percent, whole, amount, seconds, chance]) {
    for (const missing of [null, undefined, Number.NaN]) assert.equal(of(missing), '–');
  }
  assert.equal(range(0.1, null), '–');
});

test('a negative that rounds to zero has no sign', () => {
  assert.equal(fixed(-0.0004), '0.000');
  assert.equal(signed(0.0004), '0.000');
  assert.equal(fixed(-0.0006), '\u22120.001');
  assert.equal(signed(0.0006), '+0.001');
});

test('amounts keep about three digits', () => {
  assert.deepEqual([0.0123, 1.5, 12.34, 123.4, 1234.5, 7].map(amount), ['0.012', '1.50', '12.3', '123', '1,235', '7']);
});

test('a p value is never zero', () => {
  assert.equal(chance(0), '< 0.001');
  assert.equal(chance(0.0009999), '< 0.001');
  assert.equal(chance(0.001), '0.001');
});

test('counts agree in number', () => {
  assert.equal(count(1, 'query', 'queries'), '1 query');
  assert.equal(count(1200, 'query', 'queries'), '1,200 queries');
});

test('half goes to the even figure, as in the sentences of Python', () => {
  assert.deepEqual([0.705, 0.715, 0.125, 0.375, 0.996, 1].map((share) => percent(share)), ['70%', '72%', '12%', '38%', '100%', '100%']);
  assert.deepEqual([0.125, 0.375, 0.995, 9.5].map((value) => fixed(value, 2)), ['0.12', '0.38', '0.99', '9.50']);
  assert.deepEqual([0.0625, 0.1875, -0.0625, 0.3].map((value) => fixed(value)), ['0.062', '0.188', '\u22120.062', '0.300']);
});
