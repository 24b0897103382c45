// Reads one configuration file into a dict of options.
import { readFileSync, renameSync } from 'node:fs';
import { pyTypeName } from '../codec/python/index.ts';
import { dictEntries, isDict, newDict, type PlainDict, type Value } from '../codec/value.ts';
import { loadYaml, YamlError } from '../codec/yaml/index.ts';
import { HaliteError, messageOf } from '../errors/index.ts';
import { exitCodes } from '../util/exit-codes.ts';
import type { ConfigReport } from './problems.ts';
import { pyText } from './py-values.ts';

/**
 * Throws HaliteError `config.syntax` for a file that is not a YAML mapping, `config.missing` for one that cannot be
 * read.
 * The detail `exitCode` is the exit code of Salt's programs.
 */
export function readConfFile(path: string, report: ConfigReport): PlainDict {
  report.note(`Reading configuration from ${path}`);
  const text = readText(path);
  let value: Value;
  try {
    value = loadYaml(text, { name: path, errorCode: 'config.syntax' });
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    if (path.endsWith('_schedule.conf')) return setAside(path, error, report);
    throw new HaliteError('config.syntax', `Error parsing configuration file: ${path} - ${error.message}`, {
      hint: `Correct line ${error.line} of ${path}.`,
      details: {
        file: path,
        line: error.line,
        column: error.column,
        excerpt: error.excerpt,
        exitCode: exitCodes.generic,
      },
      cause: error,
    });
  }
  report.sources.push(path);
  return optionsOf(path, value);
}

/** As in Salt: a file that exists but cannot be read is a usage error. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new HaliteError('config.missing', `Failed to load configuration: ${messageOf(cause)}`, {
      details: { file: path, exitCode: exitCodes.usage },
      cause,
    });
  }
}

function optionsOf(path: string, value: Value): PlainDict {
  if (!value || (Array.isArray(value) && value.length === 0)) return newDict();
  if (!isDict(value)) {
    throw new HaliteError(
      'config.syntax',
      `Error parsing configuration file: ${path} - conf should be a document, not ${pyTypeName(value)}.`,
      { hint: 'Every line should read `option: value`.', details: { file: path, exitCode: exitCodes.generic } },
    );
  }
  const options = newDict();
  for (const [key, item] of dictEntries(value)) options[pyText(key)] = item;
  // Salt: a numeric id is text.
  const id = options['id'];
  if (id !== undefined && id !== null && typeof id !== 'string') options['id'] = pyText(id);
  return options;
}

/** Salt: a broken schedule file, which programs write, is renamed instead of stopping the daemon. */
function setAside(path: string, error: YamlError, report: ConfigReport): PlainDict {
  report.add({
    kind: 'syntax',
    level: 'error',
    file: path,
    message: `Error parsing configuration file: ${path} - ${error.message}; renaming to ${path}YAMLError`,
  });
  try {
    renameSync(path, `${path}YAMLError`);
  } catch (cause) {
    report.add({ kind: 'syntax', level: 'error', file: path, message: `Cannot rename ${path}: ${String(cause)}` });
  }
  return newDict();
}
