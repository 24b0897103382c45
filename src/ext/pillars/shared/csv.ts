// Reads tables as Python's csv module does in its `excel` dialects.

/** Rows of cells; an empty line is an empty row. */
export function parseCsv(text: string, delimiter: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  // Whether this cell, and this line, has any characters yet.
  let begun = false;
  let blank = true;
  const endCell = (): void => {
    row.push(cell);
    cell = '';
    begun = false;
  };
  const endRow = (): void => {
    if (!blank) endCell();
    rows.push(row);
    row = [];
    blank = true;
  };
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (quoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') cell += text[at++];
      else quoted = false;
    } else if (char === '\n' || char === '\r') {
      if (char === '\r' && text[at + 1] === '\n') at++;
      endRow();
    } else {
      blank = false;
      if (char === delimiter) endCell();
      else if (char === '"' && !begun) quoted = begun = true;
      else {
        cell += char;
        begun = true;
      }
    }
  }
  if (!blank) endRow();
  return rows;
}
