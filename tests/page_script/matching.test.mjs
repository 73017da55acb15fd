import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadModule } from './load_module.mjs';

const { matching, wordsOf } = await loadModule('matching.js');

test('words are compared in lower case, and Chinese by every two letters', () => {
  assert.deepEqual([...wordsOf('The 4,200 Vehicles.')], ['the', '4,200', 'vehicles']);
  assert.deepEqual([...wordsOf('感冒药 A')], ['感冒', '冒药', 'a']);
  assert.deepEqual([...wordsOf('药')], ['药']);
});

test('a sentence matches with half of the words of a sentence of the answer', () => {
  const contexts = [['The yard holds cars.', 'Ships call.'], ['感康用于感冒。', '饭后服用。']];
  assert.deepEqual([...matching('Ships come.', contexts)], ['0-1']);
  assert.deepEqual([...matching('The yard. 饭后服用！', contexts)], ['0-0', '1-1']);
  assert.deepEqual([...matching('', contexts)], []);
});
