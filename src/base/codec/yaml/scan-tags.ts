// Scanning of directives, anchors, aliases and tags.
import { hexValue, isBlank, isBlankOrEnd, isDigit, isUri, isWord } from './chars.ts';
import { skipToLineEnd } from './scan-block.ts';
import type { ScanState } from './scan-state.ts';
import { T, Token } from './tokens.ts';

const bang = 33;
const percent = 37;

/** `%YAML 1.1` or `%TAG ! tag:…`, with the rest of the line. */
export function scanDirective(s: ScanState): Token {
  const start = s.pos;
  s.pos++;
  const name = takeWord(s);
  if (name === '') s.fail('could not find expected directive name', 'while scanning a directive', start);
  if (!isBlankOrEnd(s.at(0))) {
    s.fail('found unexpected non-alphabetical character', 'while scanning a directive', start);
  }
  let token: Token;
  if (name === 'YAML') token = scanVersion(s, start);
  else if (name === 'TAG') token = scanTagDirective(s, start);
  else return s.fail('found unknown directive name', 'while scanning a directive', start);
  skipToLineEnd(s, 'did not find expected comment or line break', 'while scanning a directive', start);
  return token;
}

function scanVersion(s: ScanState, start: number): Token {
  s.skipBlanks();
  const major = takeVersionNumber(s, start);
  if (s.at(0) !== 46) {
    s.fail("did not find expected digit or '.' character", 'while scanning a %YAML directive', start);
  }
  s.pos++;
  const minor = takeVersionNumber(s, start);
  return new Token(T.versionDirective, start, s.pos, major, minor);
}

function takeVersionNumber(s: ScanState, start: number): string {
  const from = s.pos;
  while (isDigit(s.at(0))) {
    if (s.pos - from >= 9) {
      s.fail('found extremely long version number', 'while scanning a %YAML directive', start);
    }
    s.pos++;
  }
  if (s.pos === from) s.fail('did not find expected version number', 'while scanning a %YAML directive', start);
  return String(Number(s.text.slice(from, s.pos)));
}

function scanTagDirective(s: ScanState, start: number): Token {
  s.skipBlanks();
  const handle = takeHandle(s, true, start);
  if (!isBlank(s.at(0))) s.fail('did not find expected whitespace', 'while scanning a %TAG directive', start);
  s.skipBlanks();
  const prefix = takeUri(s, { verbatim: true, directive: true, head: '', start });
  if (!isBlankOrEnd(s.at(0))) {
    s.fail('did not find expected whitespace or line break', 'while scanning a %TAG directive', start);
  }
  return new Token(T.tagDirective, start, s.pos, handle, prefix);
}

/** `&name` or `*name`. */
export function scanAnchor(s: ScanState, type: typeof T.anchor | typeof T.alias): Token {
  const start = s.pos;
  s.pos++;
  const name = takeWord(s);
  const c = s.at(0);
  if (name === '' || !(isBlankOrEnd(c) || '?:,]}%@`'.includes(String.fromCharCode(c)))) {
    const context = type === T.anchor ? 'while scanning an anchor' : 'while scanning an alias';
    s.fail('did not find expected alphabetic or numeric character', context, start);
  }
  return new Token(type, start, s.pos, name);
}

/** `!<verbatim>`, `!suffix`, `!handle!suffix` or a lone `!` (handle empty, suffix `!`). */
export function scanTag(s: ScanState): Token {
  const start = s.pos;
  let handle: string;
  let suffix: string;
  if (s.at(1) === 60) {
    s.pos += 2;
    handle = '';
    suffix = takeUri(s, { verbatim: true, directive: false, head: '', start });
    if (s.at(0) !== 62) s.fail("did not find the expected '>'", 'while scanning a tag', start);
    s.pos++;
  } else {
    handle = takeHandle(s, false, start);
    if (handle.length > 1 && handle.endsWith('!')) {
      suffix = takeUri(s, { verbatim: false, directive: false, head: '', start });
    } else {
      suffix = takeUri(s, { verbatim: false, directive: false, head: handle, start });
      handle = '!';
      if (suffix === '') [handle, suffix] = ['', '!'];
    }
  }
  if (!isBlankOrEnd(s.at(0)) && (s.flowLevel === 0 || s.at(0) !== 44)) {
    s.fail('did not find expected whitespace or line break', 'while scanning a tag', start);
  }
  return new Token(T.tag, start, s.pos, handle, suffix);
}

function takeWord(s: ScanState): string {
  const from = s.pos;
  while (isWord(s.at(0))) s.pos++;
  return s.text.slice(from, s.pos);
}

function takeHandle(s: ScanState, directive: boolean, start: number): string {
  if (s.at(0) !== bang) {
    const context = directive ? 'while scanning a tag directive' : 'while scanning a tag';
    s.fail("did not find expected '!'", context, start);
  }
  s.pos++;
  const word = takeWord(s);
  if (s.at(0) === bang) {
    s.pos++;
    return `!${word}!`;
  }
  if (directive && word !== '') s.fail("did not find expected '!'", 'while parsing a tag directive', start);
  return `!${word}`;
}

interface UriRule {
  readonly verbatim: boolean;
  readonly directive: boolean;
  /** A handle that is in fact the beginning of the suffix. */
  readonly head: string;
  readonly start: number;
}

function takeUri(s: ScanState, rule: UriRule): string {
  const context = rule.directive ? 'while parsing a %TAG directive' : 'while parsing a tag';
  let uri = rule.head.slice(1);
  let taken = rule.head.length;
  for (let c = s.at(0); isUri(c, rule.verbatim); c = s.at(0)) {
    if (c === percent) uri += takeUriEscape(s, context, rule.start);
    else {
      uri += String.fromCharCode(c);
      s.pos++;
    }
    taken++;
  }
  if (taken === 0) s.fail('did not find expected tag URI', context, rule.start);
  return uri;
}

/** One character written as `%XX` octets of UTF-8. */
function takeUriEscape(s: ScanState, context: string, start: number): string {
  const octets: number[] = [];
  let width = 0;
  do {
    const high = hexValue(s.at(1));
    const low = hexValue(s.at(2));
    if (s.at(0) !== percent || high < 0 || low < 0) s.fail('did not find URI escaped octet', context, start);
    const octet = high * 16 + low;
    if (width === 0) {
      width =
        octet < 0x80 ? 1 : (octet & 0xe0) === 0xc0 ? 2 : (octet & 0xf0) === 0xe0 ? 3 : (octet & 0xf8) === 0xf0 ? 4 : 0;
      if (width === 0) s.fail('found an incorrect leading UTF-8 octet', context, start);
    } else if ((octet & 0xc0) !== 0x80) s.fail('found an incorrect trailing UTF-8 octet', context, start);
    octets.push(octet);
    s.pos += 3;
  } while (octets.length < width);
  return Buffer.from(octets).toString('utf8');
}
