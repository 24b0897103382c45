// The text chat services receive, as Salt's returners compose it.
import { type PlainDict, pyStr } from 'halite/sdk';

/** `returned` is the result as text. Fields that are missing read None. */
export function chatText(ret: PlainDict, returned: string): string {
  const lines = [
    ['id', pyStr(ret['id'])],
    ['function', pyStr(ret['fun'])],
    ['function args', pyStr(ret['fun_args'])],
    ['jid', pyStr(ret['jid'])],
    ['return', returned],
  ];
  return lines.map(([name, text]) => `${name}: ${text}\r\n`).join('');
}

/** Services refuse texts beyond a limit, so only the beginning is sent. */
export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const note = '\r\n[shortened]';
  const cut = text.slice(0, limit - note.length);
  // Does not split a surrogate pair.
  return cut.replace(/[\uD800-\uDBFF]$/, '') + note;
}
