// @ts-check
import { parseSync, Visitor } from 'oxc-parser';

/**
 * @typedef {{ specifier: string, line: number, typeOnly: boolean }} Import
 * @typedef {{ object: string, property: string, line: number }} Read
 * @typedef {{ imports: Import[], reads: Read[], errors: string[] }} SourceFacts
 */

/**
 * What one source file imports, and which properties it reads of globals and Node modules: `process.env`,
 * `jest.mock`, `http.request`. Sees through aliases of an import, destructuring and `globalThis.`, because a rule that
 * a rename defeats is no rule. `fetch(…)` is given as a read of `globalThis`.
 *
 * @param {string} path decides the language by its ending
 * @param {string} text
 * @returns {SourceFacts} `errors` is not empty when the file cannot be parsed
 */
export const readSource = (path, text) => {
  const { program, errors } = parseSync(path, text);
  /** @type {SourceFacts} */
  const facts = { imports: [], reads: [], errors: errors.map((error) => error.message) };
  const lineOf = lineFinder(text);
  /** @type {Map<string, string>} local name → the global or module that it stands for */
  const aliases = new Map();

  /** @param {any} source @param {boolean} typeOnly */
  const addImport = (source, typeOnly) => {
    if (typeof source?.value !== 'string') return;
    facts.imports.push({ specifier: source.value, line: lineOf(source.start), typeOnly });
  };

  /** @param {any} pattern @param {any} from */
  const addDestructured = (pattern, from) => {
    if (pattern?.type !== 'ObjectPattern') return;
    const object = nameOf(from, aliases);
    if (!object) return;
    for (const entry of pattern.properties) {
      const property = entry.type === 'Property' ? keyOf(entry.key, entry.computed) : null;
      if (property) facts.reads.push({ object, property, line: lineOf(entry.start) });
    }
  };

  new Visitor({
    ImportDeclaration: (node) => {
      const typeOnly = node.importKind === 'type';
      addImport(node.source, typeOnly);
      if (!typeOnly) readBindings(node, aliases, (read) => facts.reads.push({ ...read, line: lineOf(node.start) }));
    },
    ExportNamedDeclaration: (node) => addImport(node.source, node.exportKind === 'type'),
    ExportAllDeclaration: (node) => addImport(node.source, node.exportKind === 'type'),
    ImportExpression: (node) => addImport(node.source, false),
    TSImportType: (node) => addImport(node.source, true),
    TSExternalModuleReference: (node) => addImport(node.expression, false),
    CallExpression: (node) => {
      if (node.callee.type !== 'Identifier') return;
      if (node.callee.name === 'require') addImport(node.arguments[0], false);
      if (node.callee.name === 'fetch') {
        facts.reads.push({ object: 'globalThis', property: 'fetch', line: lineOf(node.start) });
      }
    },
    MemberExpression: (node) => {
      const object = nameOf(node.object, aliases);
      const property = keyOf(node.property, node.computed);
      if (object && property) facts.reads.push({ object, property, line: lineOf(node.start) });
    },
    VariableDeclarator: (node) => addDestructured(node.id, node.init),
    AssignmentExpression: (node) => addDestructured(node.left, node.right),
  }).visit(program);
  return facts;
};

/**
 * Notes what the names of an import stand for. `import http from 'node:http'` and `import * as h from 'http'` stand for
 * the module, `import { env } from 'node:process'` is a read of it, `import { jest as j } from '@jest/globals'` stands
 * for the global of that name.
 *
 * @param {any} node
 * @param {Map<string, string>} aliases
 * @param {(read: { object: string, property: string }) => void} addRead
 */
const readBindings = (node, aliases, addRead) => {
  const module = node.source.value.replace(/^node:/, '');
  for (const specifier of node.specifiers) {
    if (specifier.type !== 'ImportSpecifier') aliases.set(specifier.local.name, module);
    else if (module === '@jest/globals') aliases.set(specifier.local.name, specifier.imported.name);
    else if (specifier.importKind !== 'type') addRead({ object: module, property: specifier.imported.name });
  }
};

/**
 * The global or module that an expression names, or null: `process`, `globalThis.process`, `import.meta.jest`.
 *
 * @param {any} node
 * @param {Map<string, string>} aliases
 * @returns {string | null}
 */
const nameOf = (node, aliases) => {
  if (node?.type === 'Identifier') return aliases.get(node.name) ?? node.name;
  if (node?.type !== 'MemberExpression') return null;
  const onGlobal = node.object.type === 'Identifier' && ['globalThis', 'global'].includes(node.object.name);
  return onGlobal || node.object.type === 'MetaProperty' ? keyOf(node.property, node.computed) : null;
};

/** @param {any} key @param {boolean} computed @returns {string | null} */
const keyOf = (key, computed) => {
  if (!computed && key.type === 'Identifier') return key.name;
  return key.type === 'Literal' && typeof key.value === 'string' ? key.value : null;
};

/** @param {string} text */
const lineFinder = (text) => (/** @type {number} */ offset) => text.slice(0, offset).split('\n').length;
