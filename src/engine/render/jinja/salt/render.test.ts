// Rendering as Salt does it: texts of errors, final newline, environment options, relative imports, the salt object.
import { describe, expect, it } from 'vitest';
import { HaliteError, PythonException } from '../../../../base/errors/index.ts';
import { slsNames } from '../../sls-context.ts';
import { renderSaltTemplate, SaltRenderError, saltFunctions } from '../index.ts';

interface Setup {
  readonly files?: Record<string, string>;
  readonly sls?: string;
  readonly opts?: Record<string, unknown>;
  readonly salt?: unknown;
}

const functions = saltFunctions({
  find: (name) => {
    if (name === 'test.boom') {
      return () => {
        throw new HaliteError('call.failed', 'it failed');
      };
    }
    if (name === 'test.python') {
      return () => {
        const place = '  File "/srv/_modules/net.py", line 5, in make\n    node["id"]\n';
        throw new PythonException('KeyError', "'id'", `Traceback (most recent call last):\n${place}KeyError: 'id'\n`);
      };
    }
    return name === 'test.echo' ? ([value]) => value : undefined;
  },
  hasModule: (name) => name === 'test',
  names: () => ['test.boom', 'test.echo', 'test.python'],
});

function render(source: string, { files = {}, sls, opts = {}, salt = functions }: Setup = {}): Promise<string> {
  const place = sls === undefined ? {} : { sls, ...slsNames(`/srv/${sls.replaceAll('.', '/')}.sls`, sls) };
  const loader = (name: string) =>
    Object.hasOwn(files, name) ? { source: files[name]!, path: `/srv/${name}` } : undefined;
  return renderSaltTemplate(source, { context: { opts, saltenv: 'base', salt, ...place }, loader });
}

async function failure(source: string, setup: Setup = {}): Promise<SaltRenderError> {
  try {
    await render(source, setup);
  } catch (error) {
    if (error instanceof SaltRenderError) return error;
    throw error;
  }
  throw new Error('the template did not fail');
}

const eight = Array.from({ length: 8 }, (_, index) => `l${index + 1}`).join('\n');

describe('error texts', () => {
  it('shows an undefined variable with five lines around it', async () => {
    const error = await failure(`${eight}\n{{ missing }}\n${eight}`, { sls: 'app.x' });
    expect(error.message).toBe(
      "Jinja variable 'missing' is undefined; line 9\n\n---\n[...]\nl4\nl5\nl6\nl7\nl8\n{{ missing }}    <======================\nl1\nl2\nl3\nl4\nl5\n[...]\n---",
    );
    expect([error.error, error.line, error.code]).toEqual([
      "Jinja variable 'missing' is undefined",
      9,
      'render.failed',
    ]);
  });

  it.each([
    [
      'a\n{% if %}\n',
      "Jinja syntax error: Expected an expression, got 'end of statement block'; line 2\n\n---\na\n{% if %}    <======================\n---",
    ],
    [
      'a\n{{ "".__class__ }}',
      "Jinja syntax error: access to attribute '__class__' of 'str' object is unsafe.; line 2\n\n---\na\n{{ \"\".__class__ }}    <======================\n---",
    ],
    [
      'x\n{% load_json as j %}{bad{% endload %}',
      'Jinja syntax error: Unable to load json from {bad; line 2\n\n---\nx\n{% load_json as j %}{bad{% endload %}    <======================\n---',
    ],
    [
      'a\n{{ salt["test.boom"]() }}',
      'Problem running salt function in Jinja template: it failed; line 2\n\n---\na\n{{ salt["test.boom"]() }}    <======================\n---',
    ],
    [
      'a\n{{ salt["test.nope"](1) }}',
      "Jinja variable 'salt.utils.templates.AliasedLoader object' has no attribute 'test.nope'; line 2\n\n---\na\n{{ salt[\"test.nope\"](1) }}    <======================\n---",
    ],
  ])('%s', async (template, message) => {
    expect((await failure(template, { sls: 'app' })).message).toBe(message);
  });

  it('adds the trace to errors of other kinds', async () => {
    expect((await failure('a\n{{ 1/0 }}\n')).message).toBe(
      'Jinja error: division by zero\nTraceback (most recent call last):\n  File "<template>", line 2, in top-level template code\nZeroDivisionError: division by zero\n\n; line 2\n\n---\na\n{{ 1/0 }}    <======================\n---',
    );
  });

  it('goes on with the trace of a function in Python', async () => {
    expect((await failure('a\n{{ salt["test.python"]() }}\n')).message).toContain(
      'Jinja error: \'id\'\nTraceback (most recent call last):\n  File "<template>", line 2, in top-level template code\n  File "/srv/_modules/net.py", line 5, in make\n    node["id"]\nKeyError: \'id\'\n\n; line 2\n',
    );
  });

  it('shows the file that fails instead of the template', async () => {
    const files = { 'lib.jinja': '{% macro m() %}\nx\n{{ missing }}\n{% endmacro %}\n' };
    const error = await failure('a\n{% from "lib.jinja" import m %}\n{{ m() }}\n', { files, sls: 'app' });
    expect(error.message).toBe(
      "Jinja variable 'missing' is undefined\n/srv/lib.jinja(3):\n---\n{% macro m() %}\nx\n{{ missing }}    <======================\n{% endmacro %}\n---",
    );
    expect(error.line).toBeUndefined();
  });

  it('reports an error in a block at the tag of the block', async () => {
    expect((await failure('\n{% block a %}\n{{ missing }}\n{% endblock %}')).line).toBe(2);
  });

  it('shows where YAML in a template is wrong', async () => {
    const error = await failure('{% load_yaml as y %}\na: 1\nb: [\n{% endload %}');
    expect(error.error).toMatch(/^Jinja syntax error: Encountered error loading yaml: .*\n---\n\na: 1\nb: \[/);
  });
});

describe('rules', () => {
  it.each([
    ['x\n\n', 'x\n\n'],
    ['x', 'x'],
    ['x\r\ny\r\n', 'x\ny\n'],
    ['', ''],
  ])('keeps exactly the final newline of %j', async (source, text) => {
    expect(await render(source)).toBe(text);
  });

  it('reads environment options by kind of file', async () => {
    const source = '{% if 1 %}\nx\n{% endif %}\ny\n';
    expect(await render(source, { opts: { jinja_env: { trim_blocks: true } } })).toBe('x\ny\n');
    expect(await render(source, { opts: { jinja_env: { trim_blocks: true } }, sls: 'a' })).toBe('\nx\n\ny\n');
    expect(await render(source, { opts: { jinja_sls_env: { TRIM_BLOCKS: true } }, sls: 'a' })).toBe('x\ny\n');
    expect(await render('% if 1\nx\n% endif\n', { opts: { jinja_env: { line_statement_prefix: '%' } } })).toBe('x\n\n');
    expect(await render('[{{ missing }}]', { opts: { allow_undefined: true } })).toBe('[]');
    expect(await render(source, { opts: { jinja_trim_blocks: true } })).toBe('x\ny\n');
  });

  it('gives all variables to templates imported without context', async () => {
    const files = { lib: '{% set v = opts.k ~ salt["test.echo"](1) ~ salt.test.echo(2) %}' };
    expect(await render("{% from 'lib' import v %}{{ v }}", { files, opts: { k: 'K' } })).toBe('K12');
  });

  it('finds relative names from the importing template and never leaves the root', async () => {
    const files = {
      'lib.jinja': '{% set v = "top" %}',
      'app/lib.jinja': '{% set v = tpldir ~ "," ~ tplfile ~ "," ~ tpldot %}',
      'other/x.jinja': '{% from "./y.jinja" import w %}',
      'other/y.jinja': '{% set w = "other" %}',
      'app/y.jinja': '{% set w = "app" %}',
    };
    const at = (source: string): Promise<string> => render(source, { files, sls: 'app.init' });
    expect(await at('{% from "./lib.jinja" import v %}{{ v }} {{ tplfile }}')).toBe('app,./lib.jinja,app app/init.sls');
    expect(await at('{% from "../lib.jinja" import v %}{{ v }}')).toBe('top');
    expect(await at('{% import "app/lib.jinja" as l %}{{ l.v }}')).toBe('app,app/lib.jinja,app');
    expect(await at('{% import "other/x.jinja" as x %}{% from "./y.jinja" import w %}{{ w }}')).toBe('app');
    expect((await failure('{% import "../../etc/passwd" as l %}', { files, sls: 'app.init' })).error).toBe(
      'Jinja error: ../../etc/passwd',
    );
  });

  it('has the functions of the salt object', async () => {
    expect(await render("{{ 'test.echo' in salt }} {{ 'x.y' in salt }} {{ salt.nomod is defined }}")).toBe(
      'True False False',
    );
    expect(await render('{{ salt | list }} {{ salt.test.nope is defined }}')).toBe(
      "['test.boom', 'test.echo', 'test.python'] False",
    );
  });

  it('waits for functions and files', async () => {
    const salt = saltFunctions({
      find:
        () =>
        ([value]) =>
          Promise.resolve(value),
    });
    const loader = (name: string) => Promise.resolve({ source: `{% set v = salt['x.y']('${name}') %}` });
    const text = await renderSaltTemplate("{% from 'f' import v %}{{ v }}\n", { context: { salt }, loader });
    expect(text).toBe('f\n');
  });

  it('logs timed sections', async () => {
    const lines: string[] = [];
    const context = {};
    await renderSaltTemplate('{% profile as "part" %}x{% endprofile %}', {
      context,
      log: (_level, text) => lines.push(text),
    });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^Time \(in seconds\) to render profile block 'part': /);
  });
});

describe('slsNames', () => {
  it.each([
    [
      '/r/app/sub/x.sls',
      'app.sub.x',
      ['app/sub', 'app.sub', 'app:sub', 'app_sub', 'app/sub/x.sls', 'app/sub', 'app.sub'],
    ],
    ['/r/app/init.sls', 'app', ['app', 'app', 'app', 'app', 'app/init.sls', 'app', 'app']],
    ['/r/top.sls', 'top', ['', '', '', '', 'top.sls', '.', '']],
  ])('%s', (path, sls, expected) => {
    const c = slsNames(path, sls);
    expect(
      ['slspath', 'slsdotpath', 'slscolonpath', 'sls_path', 'tplfile', 'tpldir', 'tpldot'].map((name) => c[name]),
    ).toEqual(expected);
  });
});
