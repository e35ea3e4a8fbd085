// @ts-check
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';

/** @type {import('@swc/core').Options} */
const OPTIONS = {
  jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
  module: { type: 'es6' },
  sourceMaps: 'inline',
  swcrc: false,
};

/**
 * Finds the sources of our packages, by the condition of their exports, and of a relative import, which names the file that is
 * built. @type {import('node:module').ResolveHook}
 */
export const resolve = (specifier, context, next) => {
  const isSource = context.parentURL?.endsWith('.ts') && /^\.{1,2}\/.*\.js$/.test(specifier);
  return next(isSource ? `${specifier.slice(0, -2)}ts` : specifier, {
    ...context,
    conditions: ['development', ...context.conditions],
  });
};

/** Removes the types of TypeScript. @type {import('node:module').LoadHook} */
export const load = async (url, context, next) => {
  if (!url.endsWith('.ts')) return next(url, context);
  const { code } = await transformFile(fileURLToPath(url), OPTIONS);
  return { format: 'module', source: code, shortCircuit: true };
};
