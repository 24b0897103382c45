// The command line as it was typed up to the cursor, split as a shell splits it.

export interface TypedLine {
  /** The words before the one at the cursor, without their quotes. */
  readonly words: readonly string[];
  /** The word at the cursor, without its quotes; empty after a space. */
  readonly current: string;
  /** The same as it was typed. */
  readonly typed: string;
}

const longest = 65_536;

export function readTypedLine(line: string): TypedLine {
  const words: string[] = [];
  let [word, start, quote, begun] = ['', 0, '', false];
  const text = line.slice(0, longest);
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (quote === '' && /\s/.test(char)) {
      if (begun) words.push(word);
      [word, start, begun] = ['', at + 1, false];
      continue;
    }
    begun = true;
    if (quote === char) quote = '';
    else if (quote === '' && (char === "'" || char === '"')) quote = char;
    else if (char === '\\' && quote !== "'" && at + 1 < text.length) word += text.charAt(++at);
    else word += char;
  }
  return { words, current: word, typed: text.slice(start) };
}
