import { ERROR_CATALOGUE, type ErrorCode, type ErrorSpec, ID_PREFIXES } from '@vat/domain';
import { z } from 'zod';
import { type ExtraField, errorSchema } from './error.js';
import { EVENTS } from './event.js';
import { errorsOf, type Operation, type Success } from './operation.js';
import { OPERATIONS } from './operations.js';

type Json = Record<string, unknown>;

const NO_CONTENT = 204;

/** Values of extra error fields in examples. */
const EXTRA_EXAMPLES: Record<ExtraField, unknown> = {
  fields: [{ path: 'vat_number', message: 'vat_number is required' }],
  retry_after: 1,
  reset_at: '2026-12-01T00:00:00.000Z',
  pending: 200,
  matched: 24_310,
  active: 5,
  limit: 50,
  line: 17,
  checks: [],
};

const HEADERS: Readonly<Record<string, Json>> = {
  'X-Request-Id': {
    description: 'Identifies the call in our logs. A well-formed id that you send is used.',
    schema: { type: 'string' },
  },
  'RateLimit-Limit': {
    description: 'The calls of this key that are admitted in any second.',
    schema: { type: 'integer' },
  },
  'RateLimit-Remaining': {
    description: 'How many more calls of this key would be admitted now.',
    schema: { type: 'integer' },
  },
  'RateLimit-Reset': {
    description: 'Seconds after which all calls are admitted again, if none is made.',
    schema: { type: 'integer' },
  },
  'RateLimit-Policy': { description: 'The limit and its seconds, such as `10;w=1`.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait before the next call.', schema: { type: 'integer' } },
  Location: { description: 'The URL of the result.', schema: { type: 'string' } },
  'Content-Disposition': { description: 'The suggested file name.', schema: { type: 'string' } },
  'X-Dossier-Checks': { description: 'How many checks the dossier contains.', schema: { type: 'integer' } },
  ETag: { description: 'Changes with the content.', schema: { type: 'string' } },
  'WWW-Authenticate': { description: '`Bearer`', schema: { type: 'string' } },
  'Idempotency-Replayed': {
    description: '`true` when the response repeats the first response to the same Idempotency-Key.',
    schema: { type: 'string' },
  },
};

/** The headers of an answer to a call whose key was recognised. */
const rateHeadersOf = ({ key }: Operation): string[] =>
  key === false ? [] : ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy'];

const headersOf = (names: readonly string[]): Json =>
  Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/**
 * A schema in OpenAPI 3.1, which is JSON Schema 2020-12. Where a schema accepts text for another type, such as a number in a
 * query, its meta data contains the schema to show as `openapi`; {@link finish} puts that in its place. Objects that the service
 * sends are not closed: a release may add fields, and generated clients refuse a field that a closed schema does not have.
 */
const schemaOf = (schema: z.ZodType, io: 'input' | 'output') =>
  z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });

/** Drops what is undefined, and moves the definitions that zod puts into each schema to `components`. */
const finish = (document: Json): Json => {
  const definitions: Json = {};
  const { components, ...rest } = JSON.parse(JSON.stringify(document), (key, value) => {
    if (key === '$ref') return value.replace('#/$defs/', '#/components/schemas/');
    if (key === '$defs') Object.assign(definitions, value);
    if (key === '$defs' || key === '$schema') return undefined;
    return typeof value?.openapi === 'object' ? value.openapi : value;
  });
  return { ...rest, components: { ...components, schemas: { ...components.schemas, ...definitions } } };
};

const errorExample = (code: ErrorCode): Json => {
  const spec: ErrorSpec = ERROR_CATALOGUE[code];
  const extra = Object.fromEntries((spec.extra ?? []).map((name) => [name, EXTRA_EXAMPLES[name as ExtraField]]));
  return { error: { code, message: spec.message, ...extra } };
};

const errorHeaders = (codes: readonly ErrorCode[], operation: Operation): string[] => [
  ...(codes.some((code) => (ERROR_CATALOGUE[code] as ErrorSpec).extra?.includes('retry_after')) ? ['Retry-After'] : []),
  ...(codes.includes('UNAUTHORIZED') ? ['WWW-Authenticate'] : rateHeadersOf(operation)),
];

/** One response for each status, with an example for each code. */
const errorResponses = (operation: Operation): Json => {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(operation)) {
    const { status } = ERROR_CATALOGUE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      String(status),
      {
        description: group.map((code) => `${code}: ${ERROR_CATALOGUE[code].message}`).join(' '),
        headers: headersOf(errorHeaders(group, operation)),
        content: {
          'application/json': {
            schema:
              group.length === 1 && group[0]
                ? { $ref: `#/components/schemas/Error_${group[0]}` }
                : { oneOf: group.map((code) => ({ $ref: `#/components/schemas/Error_${code}` })) },
            examples: Object.fromEntries(
              group.map((code) => [code, { summary: ERROR_CATALOGUE[code].remedy, value: errorExample(code) }]),
            ),
          },
        },
      },
    ]),
  );
};

const successResponse = (status: number, success: Success, operation: Operation): Json => ({
  description: success.description,
  headers: headersOf([
    ...rateHeadersOf(operation),
    ...(success.headers ?? []),
    ...(operation.idempotent ? ['Idempotency-Replayed'] : []),
  ]),
  content:
    status === NO_CONTENT
      ? undefined
      : {
          [success.contentType ?? 'application/json']: {
            schema: success.schema ? schemaOf(success.schema, 'output') : {},
            example: success.example,
          },
        },
});

const requestBodyOf = ({ body, bodyExample, uploads }: Operation): Json | undefined => {
  const contents = Object.entries(
    body ? { 'application/json': { schema: body, example: bodyExample } } : (uploads ?? {}),
  ).map(([type, { schema, example }]) => [
    type,
    { schema: schema ? schemaOf(schema, 'input') : { type: 'string', format: 'binary' }, example },
  ]);
  return contents.length === 0 ? undefined : { required: true, content: Object.fromEntries(contents) };
};

const parametersOf = ({ id, query, idempotent }: Operation): Json[] => {
  const description = id && `The id, which begins with \`${ID_PREFIXES[id]}_\`.`;
  return [
    ...(id ? [{ name: 'id', in: 'path', required: true, schema: { type: 'string' }, description }] : []),
    ...Object.entries(query?.shape ?? {}).map(([name, schema]) => ({
      name,
      in: 'query',
      required: false,
      schema: schemaOf(schema as z.ZodType, 'input'),
    })),
    ...(idempotent ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
  ];
};

const operationOf = (name: string, operation: Operation): Json => ({
  operationId: name,
  tags: [operation.tag],
  summary: operation.summary,
  description: operation.description,
  security: operation.key === false ? [] : [{ key: [] }],
  parameters: parametersOf(operation),
  requestBody: requestBodyOf(operation),
  responses: {
    ...Object.fromEntries(
      Object.entries(operation.success).map(([status, success]) => [
        status,
        successResponse(Number(status), success, operation),
      ]),
    ),
    ...errorResponses(operation),
  },
});

/** The headers of a delivery, by their names in the components. */
const DELIVERY_HEADERS: Readonly<Record<string, { name: string; description: string }>> = {
  EventName: { name: 'X-Service-Event', description: 'The name of the event.' },
  AttemptTime: { name: 'X-Service-Timestamp', description: 'The time of this attempt in Unix seconds.' },
  Signature: {
    name: 'X-Service-Signature',
    description: '`sha256=` and the lowercase hex HMAC-SHA256 of timestamp, a dot and the raw body.',
  },
  DeliveryId: { name: 'X-Service-Delivery', description: 'The id of the delivery.' },
  WebhookId: { name: 'webhook-id', description: 'The id of the event: the same at every attempt and resend.' },
  WebhookTimestamp: { name: 'webhook-timestamp', description: 'As `X-Service-Timestamp`.' },
  WebhookSignature: { name: 'webhook-signature', description: '`v1,` and a base64 HMAC-SHA256 (Standard Webhooks).' },
};

/** What is posted to the endpoint of an account, by event. */
const webhooks = (): Json =>
  Object.fromEntries(
    Object.entries(EVENTS).map(([type, { summary, schema, example }]) => [
      type,
      {
        post: {
          tags: ['Webhook'],
          summary,
          security: [],
          parameters: Object.keys(DELIVERY_HEADERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemaOf(schema, 'output'), example } },
          },
          responses: {
            '2XX': { description: 'The delivery is successful.' },
            default: { description: 'The attempt failed, and is repeated up to five times.' },
          },
        },
      },
    ]),
  );

/** The OpenAPI 3.1 document, generated from the schemas that validate requests and from the error catalogue. */
export const buildOpenApi = (version: string, baseUrl: string): Json => {
  const paths: Record<string, Json> = {};
  for (const [name, operation] of Object.entries<Operation>(OPERATIONS)) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationOf(name, operation) };
  }
  const codes = Object.keys(ERROR_CATALOGUE) as ErrorCode[];
  return finish({
    openapi: '3.1.0',
    info: {
      title: 'VAT Validation Service',
      version,
      description:
        'Validates EU VAT numbers and stores proof of every answer. An outage is never a verdict: a request that cannot be answered in time is accepted with 202 and completed in the background.',
    },
    servers: [{ url: baseUrl }],
    paths,
    webhooks: webhooks(),
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key, `vat_live_…` or `vat_test_…`.' },
      },
      headers: HEADERS,
      parameters: {
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: 'Makes the call safe to repeat for 24 hours: a repeated call returns the first response.',
          schema: { type: 'string', minLength: 1, maxLength: 255 },
        },
        ...Object.fromEntries(
          Object.entries(DELIVERY_HEADERS).map(([name, header]) => [
            name,
            { ...header, in: 'header', required: true, schema: { type: 'string' } },
          ]),
        ),
      },
      schemas: Object.fromEntries(codes.map((code) => [`Error_${code}`, schemaOf(errorSchema(code), 'output')])),
    },
  });
};
