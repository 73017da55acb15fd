// Requests. Ratings are sent one after another, and again under the same number until it is
// answered: the number makes sure that it counts once.
import { shared } from './shared.js';

const PAUSE = 3000;
let line = Promise.resolve();
const tab = number();

function number() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

// Requests that the server refuses, and those that it has not answered, or failed to.
export class Refused extends Error {}
export class Unanswered extends Error {}

async function fetched(path, options) {
  let response = null;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Unanswered('the program does not answer');
  }
  let answer = null;
  try {
    answer = await response.json();
  } catch {
    answer = { error: response.status === 403 ? 'The program was restarted. Open the new link that it has printed.' : `The program answers ${response.status}.` };
  }
  if (response.ok) return answer;
  // what is refused is refused again however often it is sent
  throw response.status < 500 ? new Refused(answer.error) : new Unanswered(answer.error);
}

export function get(what, given = {}) {
  const query = new URLSearchParams(Object.entries({ rater: shared.rater, ...given }).filter(([, value]) => value !== null && value !== undefined && value !== ''));
  return fetched(`/api/${what}?${query}`);
}

// Save a rating. Resolves once it is on the disk; ``waiting`` is called with the reason why it is not yet.
export function post(what, given) {
  const body = JSON.stringify({ rater: shared.rater, tab, request: number(), ...given });
  const sent = line.then(() => send(what, body));
  line = sent.catch(() => null);
  return sent;
}

async function send(what, body) {
  for (;;) {
    try {
      const answer = await fetched(`/api/${what}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body, keepalive: body.length < 60000 });
      shared.waiting(null);
      return answer;
    } catch (error) {
      if (!(error instanceof Unanswered)) {
        shared.waiting(null);
        throw error;
      }
      shared.waiting(error);
      await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
    }
  }
}
