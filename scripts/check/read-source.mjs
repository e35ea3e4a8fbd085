// @ts-check
import { parseSync, visitorKeys } from 'oxc-parser';

/**
 * @typedef {import('oxc-parser').Node} Node
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
  /** @type {Map<string, string>} local name → the global or module that it stands for */
  const aliases = new Map();
  /** @param {Node} node */
  const lineOf = (node) => text.slice(0, node.start).split('\n').length;

  /** @param {Node | null | undefined} source @param {boolean} typeOnly */
  const addImport = (source, typeOnly) => {
    if (source?.type !== 'Literal' || typeof source.value !== 'string') return;
    facts.imports.push({ specifier: source.value, line: lineOf(source), typeOnly });
  };

  /** @param {Node} pattern @param {Node | null} from */
  const addDestructured = (pattern, from) => {
    const object = from && nameOf(from, aliases);
    if (pattern.type !== 'ObjectPattern' || !object) return;
    for (const entry of pattern.properties) {
      const property = entry.type === 'Property' ? keyOf(entry.key, entry.computed) : null;
      if (property) facts.reads.push({ object, property, line: lineOf(entry) });
    }
  };

  walk(program, (node) => {
    switch (node.type) {
      case 'ImportDeclaration':
        addImport(node.source, node.importKind === 'type');
        for (const { object, property } of readBindings(node, aliases)) {
          facts.reads.push({ object, property, line: lineOf(node) });
        }
        return;
      case 'ExportNamedDeclaration':
      case 'ExportAllDeclaration':
        return addImport(node.source, node.exportKind === 'type');
      case 'ImportExpression':
        return addImport(node.source, false);
      case 'TSImportType':
        return addImport(node.source, true);
      case 'TSExternalModuleReference':
        return addImport(node.expression, false);
      case 'CallExpression':
        if (node.callee.type !== 'Identifier') return;
        if (node.callee.name === 'require') addImport(node.arguments[0], false);
        if (node.callee.name === 'fetch') {
          facts.reads.push({ object: 'globalThis', property: 'fetch', line: lineOf(node) });
        }
        return;
      case 'MemberExpression': {
        const object = nameOf(node.object, aliases);
        const property = keyOf(node.property, node.computed);
        if (object && property) facts.reads.push({ object, property, line: lineOf(node) });
        return;
      }
      case 'VariableDeclarator':
        return addDestructured(node.id, node.init);
      case 'AssignmentExpression':
        return addDestructured(node.left, node.right);
    }
  });
  return facts;
};

/** @param {Node} node @param {(node: Node) => void} visit parents before their children, in the order of the text */
const walk = (node, visit) => {
  visit(node);
  for (const key of visitorKeys[node.type] ?? []) {
    const children = /** @type {Record<string, Node | null | (Node | null)[]>} */ (/** @type {unknown} */ (node))[key];
    for (const child of [children].flat()) if (child) walk(child, visit);
  }
};

/**
 * Notes what the names of an import stand for, and gives those that are reads themselves. `import http from
 * 'node:http'` and `import * as h from 'http'` stand for the module, `import { env } from 'node:process'` is a read of
 * it, `import { jest as j } from '@jest/globals'` stands for the global of that name.
 *
 * @param {import('oxc-parser').ImportDeclaration} node
 * @param {Map<string, string>} aliases
 * @returns {{ object: string, property: string }[]}
 */
const readBindings = (node, aliases) => {
  if (node.importKind === 'type') return [];
  const object = node.source.value.replace(/^node:/, '');
  return node.specifiers.flatMap((specifier) => {
    const property = specifier.type === 'ImportSpecifier' ? keyOf(specifier.imported, false) : null;
    if (property && object !== '@jest/globals') return [{ object, property }];
    aliases.set(specifier.local.name, property ?? object);
    return [];
  });
};

/**
 * The global or module that an expression names, or null: `process`, `globalThis.process`, `import.meta.jest`.
 *
 * @param {Node} node
 * @param {Map<string, string>} aliases
 * @returns {string | null}
 */
const nameOf = (node, aliases) => {
  if (node.type === 'Identifier') return aliases.get(node.name) ?? node.name;
  if (node.type !== 'MemberExpression') return null;
  const onGlobal = node.object.type === 'Identifier' && ['globalThis', 'global'].includes(node.object.name);
  return onGlobal || node.object.type === 'MetaProperty' ? keyOf(node.property, node.computed) : null;
};

/** @param {Node} key @param {boolean} computed @returns {string | null} */
const keyOf = (key, computed) => {
  if (!computed && key.type === 'Identifier') return key.name;
  return key.type === 'Literal' && typeof key.value === 'string' ? key.value : null;
};
