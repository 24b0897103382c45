// The state and pillar trees: SLS files and templates with what they call, extensions, formulas.
import { basename, dirname } from 'node:path';
import { loadYaml, YamlError } from '../../../../base/codec/yaml/index.ts';
import { messageOf } from '../../../../base/errors/index.ts';
import { createEnvironment, JinjaError } from '../../../../engine/render/jinja/index.ts';
import { isKind, type Kind, userPlaces } from '../../../../extend/loader/kinds.ts';
import { namesInText } from '../../../../extend/loader/python-names.ts';
import { placeOf } from '../../doctor/trees.ts';
import { functionDifference } from './differences.ts';
import type { Entries } from './entry.ts';
import type { Installation } from './installation.ts';
import type { Names } from './names.ts';
import { examinePython } from './python-files.ts';
import {
  calledFromJinja,
  declarations,
  type Named,
  namedByConditions,
  namedByStates,
  pythonSls,
} from './sls-reader.ts';

/** A file of the installation's own that adds functions or an extension. */
interface Own {
  readonly path: string;
  readonly folder: string;
  readonly kind: Kind | undefined;
  readonly refused: boolean;
  readonly names: readonly string[];
}

/** `_modules` in a tree, and `modules` below `extension_modules`. */
function kindOf(folder: string): Kind | undefined {
  const name = folder.replace(/^_/, '');
  if (isKind(name) && userPlaces[name].folder === name) return name;
  return (Object.keys(userPlaces) as Kind[]).find((kind) => userPlaces[kind].folder === name);
}

export class Trees {
  readonly #place: Installation;
  readonly #names: Names;
  readonly #entries: Entries;
  readonly #own: Own[] = [];
  readonly #texts: string[] = [];
  readonly #formulas = new Map<string, Set<string>>();
  readonly #jinja = createEnvironment();

  constructor(place: Installation, names: Names, entries: Entries) {
    this.#place = place;
    this.#names = names;
    this.#entries = entries;
  }

  /** Finds the files of a tree; `extensions` for a folder like `extension_modules`. */
  collect(root: string, extensions = false): void {
    if (!this.#place.isFolder(root)) {
      this.#entries.add('folder', root, 'unknown', '', 'does not exist here');
      return;
    }
    for (const path of this.#place.files(root)) {
      const under = path.slice(root.length + 1).split('/');
      const special = under.slice(0, -1).find((part) => extensions || placeOf(part) !== 'tree' || part === '_utils');
      if (special !== undefined) this.#addOwn(path, extensions ? `_${special}` : special);
      else if (/\.(sls|jinja|j2|jinja2|macros?|tmpl|conf|cfg|ini|yaml|yml)$/.test(path)) this.#texts.push(path);
      if (basename(path) === 'FORMULA' || basename(path) === 'map.jinja') this.#formula(dirname(path));
      if (root.endsWith('-formula')) this.#formula(root);
    }
  }

  #formula(folder: string): void {
    if (!this.#formulas.has(folder)) this.#formulas.set(folder, new Set());
  }

  #addOwn(path: string, folder: string): void {
    const stem = basename(path) === '__init__.py' ? basename(dirname(path)) : basename(path).replace(/\.\w+$/, '');
    if (!/\.(py|[mc]?js|ts)$/.test(path)) return;
    const text = path.endsWith('.py') ? (this.#place.read(path) ?? '') : '';
    const names = path.endsWith('.py') ? namesInText(stem, text).names : [stem];
    this.#own.push({ path, folder, kind: kindOf(folder), refused: placeOf(folder) === 'refused', names });
  }

  own(kind: Kind, name: string): boolean {
    return this.#own.some((file) => file.kind === kind && !file.refused && file.names.includes(name));
  }

  async check(): Promise<void> {
    await this.#checkOwn();
    for (const path of this.#texts) this.#checkText(path);
    for (const [folder, lacking] of this.#formulas) {
      const why = lacking.size > 0 ? `uses ${[...lacking].sort().slice(0, 10).join(', ')}` : undefined;
      this.#entries.add('formula', folder, why ? 'missing' : 'works', folder, why);
    }
  }

  async #checkOwn(): Promise<void> {
    const python = this.#own.filter(({ path }) => path.endsWith('.py'));
    const places = new Map(python.map(({ path }) => [path, this.#place.placeOf(path) ?? path]));
    const facts = await examinePython([...places.values()]);
    for (const { path, folder, refused } of this.#own) {
      const kind = `extension in ${folder}`;
      const name = basename(path);
      if (!path.endsWith('.py')) this.#entries.add(kind, name, 'works', path);
      else if (refused)
        this.#entries.add(
          kind,
          name,
          'missing',
          path,
          'this kind runs in Python on Salt minions only: write it in TypeScript',
        );
      else if (typeof facts === 'string') this.#entries.add(kind, name, 'unknown', path, `not examined: ${facts}`);
      else {
        const { problems, calls } = facts.get(places.get(path) ?? '') ?? { problems: [], calls: [] };
        for (const { line, what } of problems)
          this.#entries.add(
            kind,
            name,
            /not installed/.test(what) ? 'unknown' : 'missing',
            line > 0 ? `${path}:${line}` : path,
            what,
          );
        if (problems.length === 0) this.#entries.add(kind, name, 'works', path);
        for (const { through, fun, line } of calls)
          if (through !== '__utils__')
            this.#used(through === '__states__' ? 'states' : 'modules', { name: fun, line }, path);
      }
    }
  }

  /** Notes a function that is used. */
  #used(kind: 'states' | 'modules', { name, line }: Named, path: string): void {
    const what = kind === 'states' ? 'state' : 'function';
    const place = `${path}:${line}`;
    const module = name.slice(0, name.indexOf('.'));
    const difference = functionDifference(kind, name);
    if (this.own(kind, module)) this.#entries.add(what, name, 'works', place);
    else if (this.#names.here(kind, name))
      this.#entries.add(what, name, difference ? 'differs' : 'works', place, difference);
    else this.#missing(kind, name, path, place);
  }

  #missing(kind: 'states' | 'modules', name: string, path: string, place: string): void {
    this.#lacks(path, name);
    const known = this.#names.inSalt(kind, name);
    const what = kind === 'states' ? 'state' : 'function';
    this.#entries.add(
      what,
      name,
      'missing',
      place,
      known ? `Halite has no ${name}` : `neither Salt nor Halite has ${name}`,
    );
  }

  #lacks(path: string, name: string): void {
    for (const [folder, lacking] of this.#formulas)
      if (path.startsWith(`${folder}/`) && lacking.size < 100) lacking.add(name);
  }

  #checkText(path: string): void {
    const text = this.#place.read(path);
    if (text === undefined) return;
    const isState = this.#knows('states');
    const isFunction = this.#knows('modules');
    const pipe = /^#!([^\n]*)/.exec(text)?.[1]?.trim() ?? '';
    const sls = /\.(sls|jinja|j2|jinja2|macros?)$/.test(path);
    if (sls && pipe !== '') this.#renderers(pipe, path);
    if (sls && /\bpy\b/.test(pipe)) {
      const { states, modules } = pythonSls(text, isState, isFunction);
      for (const used of states) this.#used('states', used, path);
      for (const used of modules) this.#used('modules', used, path);
      return;
    }
    for (const used of calledFromJinja(text, isFunction)) this.#used('modules', used, path);
    if (!sls || /\b(pyobjects|pydsl|mako|genshi|wempy|cheetah)\b/.test(pipe)) return;
    const { found, unresolved } = declarations(text, isState);
    for (const { fun, line } of found) this.#used('states', { name: fun, line }, path);
    for (const { name, line } of unresolved)
      this.#entries.add('state', name, 'unknown', `${path}:${line}`, 'a template chooses the function');
    for (const used of [...namedByStates(found, isFunction), ...namedByConditions(text, isFunction)])
      this.#used('modules', used, path);
    this.#compiles(path, text, pipe);
  }

  #knows(kind: 'states' | 'modules'): (name: string) => boolean {
    return (name) =>
      this.#names.inSalt(kind, name) ||
      this.#names.here(kind, name) ||
      this.own(kind, name.slice(0, name.indexOf('.')));
  }

  #renderers(pipe: string, path: string): void {
    for (const part of pipe.split('|')) {
      const [name = ''] = part.trim().split(/\s+/);
      if (!/^\w+$/.test(name)) continue;
      const found = this.#names.extension('renderers', name) || this.own('renderers', name);
      this.#entries.add(
        'renderer',
        name,
        found ? 'works' : 'missing',
        `${path}:1`,
        found ? undefined : 'use another renderer, or bring one in _renderers',
      );
    }
  }

  /** Whether our Jinja and our YAML can read it; a template is compiled, not rendered. */
  #compiles(path: string, text: string, pipe: string): void {
    const templated = /\{[{%#]/.test(text);
    try {
      if (templated && (pipe === '' || /\bjinja\b/.test(pipe))) this.#jinja.compile(text, { name: basename(path) });
      else if (path.endsWith('.sls') && !templated && (pipe === '' || /^(jinja\|)?yaml$/.test(pipe)))
        loadYaml(text, { name: path });
    } catch (error) {
      const line = error instanceof YamlError ? error.line : error instanceof JinjaError ? error.line : undefined;
      const where = line === undefined ? path : `${path}:${line}`;
      this.#entries.add('file', basename(path), 'missing', where, `cannot be read: ${messageOf(error).split('\n')[0]}`);
    }
  }
}
