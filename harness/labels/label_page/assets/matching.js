// Which sentences of the contexts hold what an answer says.

const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const RUNS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+|[\p{L}\p{N}]+(?:[.,]\p{N}+)*/gu;
const SHARE = 0.5;

// Words of a text in lower case; of Chinese and Japanese, which have no blanks, every two letters.
export function wordsOf(text) {
  const found = new Set();
  for (const [run] of text.toLowerCase().matchAll(RUNS)) {
    if (HAN.test(run)) {
      const letters = Array.from(run);
      for (let at = 0; at < Math.max(1, letters.length - 1); at += 1) found.add(letters.slice(at, at + 2).join(''));
    } else found.add(run);
  }
  return found;
}

// The places, as `context-sentence`, of the sentences that have at least half of the words of a sentence of the answer.
export function matching(answer, contexts) {
  const parts = answer.split(/(?<=[.!?。！？])\s*/u).map(wordsOf).filter((words) => words.size);
  const found = new Set();
  for (const [at, sentences] of contexts.entries()) {
    for (const [number, sentence] of sentences.entries()) {
      const own = wordsOf(sentence);
      const holds = (words) => [...words].filter((word) => own.has(word)).length >= SHARE * words.size;
      if (parts.some(holds)) found.add(`${at}-${number}`);
    }
  }
  return found;
}
