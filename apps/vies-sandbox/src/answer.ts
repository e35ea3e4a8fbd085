import { z } from 'zod';

const milliseconds = z.number().int().min(0).max(600_000);
const status = z.number().int().min(200).max(599);
const latency = {
  latency_ms: milliseconds.optional().describe('over the latency of the member state and the default'),
};

/** Answers that need no more than their name. */
const plainKinds = z.enum([
  'invalid',
  'vow_error',
  'html',
  'half_json',
  'missing_valid',
  'valid_as_string',
  'false_with_error',
  'false_under_500',
  'empty',
  'reset',
  'hang',
  'drip',
  'huge',
  'quirky',
]);

const answerObject = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('valid'),
    name: z.string().optional(),
    address: z.string().optional(),
    consultation: z.string().optional(),
    ...latency,
  }),
  z.strictObject({ kind: z.literal('error'), code: z.string(), status: status.optional(), ...latency }),
  z.strictObject({
    kind: z.literal('status'),
    status,
    body: z.union([z.string(), z.looseObject({})]).optional(),
    ...latency,
  }),
  z.strictObject({ kind: plainKinds, ...latency }),
]);

/**
 * One scripted answer, e.g. `{"kind":"error","code":"MS_UNAVAILABLE"}`; a bare `"html"` stands for `{"kind":"html"}`.
 * Strict: a test that misspells its script must fail at once.
 */
export const answerSchema = z.preprocess(
  (value) => (typeof value === 'string' ? { kind: value } : value),
  answerObject,
);
export type Answer = z.output<typeof answerObject>;

/** How fast and how saturated; a field left out keeps its value, null takes it back. */
export const loadSchema = z.strictObject({
  latency_ms: milliseconds.nullable().optional(),
  jitter_ms: milliseconds.nullable().optional().describe('up to this much more, evenly spread'),
  saturate_over: z
    .number()
    .int()
    .min(0)
    .nullable()
    .optional()
    .describe('more asks in flight per member state are refused'),
});
export type LoadInput = z.output<typeof loadSchema>;

/** {@link loadSchema} of one member state, and the answer all its numbers get (an outage); null takes it back. */
export const stateSchema = loadSchema.extend({ answer: answerSchema.nullable().optional() });
export type StateInput = z.output<typeof stateSchema>;

/** Answers one number gives, one an ask; afterwards the last again (`repeat`) or as if never scripted (`default`). */
export const numberSchema = z.strictObject({
  answers: z.array(answerSchema).max(10_000).describe('none takes the script back'),
  // biome-ignore lint/suspicious/noThenProperty: a word of the control interface, never a function
  then: z.enum(['repeat', 'default']).default('repeat'),
});
export type NumberInput = z.output<typeof numberSchema>;
