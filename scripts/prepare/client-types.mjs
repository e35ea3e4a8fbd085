// @ts-check
import { buildOpenApi } from '@vat/contracts';

/** @typedef {Record<string, any>} Json */

/** @param {readonly string[]} types */
const union = (types) => [...new Set(types)].join(' | ');

/** @param {string | undefined} text */
const comment = (text) => (text ? `/** ${text.replaceAll('*/', '* /')} */\n` : '');

/** `given`: what a caller gives, who may write `undefined` for a field to leave it out. @param {Json} schema @param {boolean} given */
const objectType = ({ properties, required = [], additionalProperties }, given) => {
  if (!properties) return `Record<string, ${additionalProperties ? typeOf(additionalProperties, given) : 'unknown'}>`;
  const fields = Object.entries(properties).map(([name, schema]) => {
    const type = typeOf(schema, given);
    return `${comment(schema.description)}${name}${required.includes(name) ? `: ${type}` : `?: ${type}${given ? ' | undefined' : ''}`};`;
  });
  return `{\n${fields.join('\n')}\n}`;
};

/** The types of JSON Schema, as far as the document uses them. @type {Record<string, (schema: Json, given: boolean) => string>} */
const TYPES = {
  array: ({ items }, given) => `Array<${typeOf(items, given)}>`,
  object: objectType,
  integer: () => 'number',
  number: () => 'number',
  boolean: () => 'boolean',
  null: () => 'null',
  string: () => 'string',
};

/** A schema of OpenAPI 3.1 as a type of TypeScript. Throws for what it does not know. @param {Json} schema @returns {string} */
const typeOf = (schema, given = false) => {
  if (schema.$ref) return schema.$ref.split('/').at(-1);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((/** @type {unknown} */ value) => JSON.stringify(value)));
  // Beside a type, the options only say which texts or numbers are meant.
  const options = schema.type ? undefined : (schema.anyOf ?? schema.oneOf);
  if (options) return union(options.map((/** @type {Json} */ option) => typeOf(option, given)));
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type }, given)));
  if (schema.type === undefined && Object.keys(schema).every((key) => key === 'description')) return 'unknown';
  const type = TYPES[schema.type];
  if (!type) throw new Error(`no type for ${JSON.stringify(schema)}`);
  return type(schema, given);
};

/** @param {Json} content the content of a body by media type */
const jsonOf = (content) => content?.['application/json']?.schema;

/** @param {Json} operation */
const inputType = ({ parameters, requestBody }) => {
  const named = parameters.filter((/** @type {Json} */ parameter) => parameter.in);
  const query = named.filter((/** @type {Json} */ parameter) => parameter.in === 'query');
  const properties = Object.fromEntries(query.map((/** @type {Json} */ { name, schema }) => [name, schema]));
  const body = jsonOf(requestBody?.content);
  const fields = [
    named.length > query.length && 'id: string;',
    query.length > 0 && `query?: ${objectType({ properties }, true)};`,
    body && `body: ${typeOf(body, true)};`,
    requestBody && !body && 'file: { bytes: Uint8Array; name?: string | undefined };',
  ].filter(Boolean);
  return fields.length === 0 ? 'Record<string, never>' : `{\n${fields.join('\n')}\n}`;
};

/** The successful answers of an operation, by status. @param {Json} operation @returns {[string, Json | undefined][]} */
const successes = ({ responses }) =>
  Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([status, { content }]) => [status, jsonOf(content)]);

/** Without a schema the body is a file. @param {Json | undefined} schema */
const isFile = (schema) => !schema || Object.keys(schema).length === 0;

/** @param {Json} operation */
const outputType = (operation) =>
  successes(operation)
    .map(([status, schema]) => {
      const body = isFile(schema) ? 'Uint8Array' : typeOf(/** @type {Json} */ (schema));
      return `{ status: ${status}; body: ${status === '204' ? 'undefined' : body} }`;
    })
    .join(' | ');

/** @param {string} method @param {string} path @param {Json} operation */
const constant = (method, path, operation) => {
  const takesKey = operation.parameters.some((/** @type {Json} */ { $ref }) => $ref?.endsWith('/IdempotencyKey'));
  const bytes = successes(operation).some(([status, schema]) => status !== '204' && isFile(schema));
  const fields = [`method: '${method.toUpperCase()}', path: '${path}'`];
  if (takesKey) fields.push('idempotent: true');
  if (bytes) fields.push('bytes: true');
  return `${operation.operationId}: { ${fields.join(', ')} },`;
};

/** The fields that errors have beside code and message. @param {Json[]} errors */
const errorFields = (errors) =>
  Object.fromEntries(
    errors.flatMap(({ properties }) =>
      Object.entries(properties.error.properties).filter(([name]) => name !== 'code' && name !== 'message'),
    ),
  );

/** The types of `packages/client`, made from the OpenAPI document: every schema, error code and operation. */
export const clientTypes = () => {
  const { paths, components } = /** @type {Json} */ (buildOpenApi('1', 'https://vat.example.com'));
  const schemas = Object.entries(/** @type {Record<string, Json>} */ (components.schemas));
  const isError = (/** @type {string} */ name) => name.startsWith('Error_');
  const errors = schemas.filter(([name]) => isError(name));
  const types = schemas
    .filter(([name]) => !isError(name))
    .map(([name, schema]) => `${comment(schema.description)}export type ${name} = ${typeOf(schema)};`);
  const operations = Object.entries(/** @type {Record<string, Json>} */ (paths)).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  return `// Made from the OpenAPI document by scripts/prepare/client-types.mjs.

/** The code of an error. */
export type ErrorCode = ${union(errors.map(([name]) => `'${name.slice('Error_'.length)}'`))};

/** The fields that an error can have beside its code and message. docs/errors.md says which code has which. */
export type ErrorFields = ${objectType({ properties: errorFields(errors.map(([, schema]) => schema)) }, false)};

${types.join('\n\n')}

/** The operations of the API by \`operationId\`: what each takes, and its successful answers. */
export type Operations = {
${operations
  .map(
    ({ operation }) =>
      `${comment(`${operation.summary}.`)}${operation.operationId}: { input: ${inputType(operation)}; output: ${outputType(operation)} };`,
  )
  .join('\n')}
};

/** How each operation is called. \`idempotent\`: takes an Idempotency-Key; \`bytes\`: answers with a file. */
export const OPERATIONS = {
${operations.map(({ method, path, operation }) => constant(method, path, operation)).join('\n')}
} as const;
`;
};
