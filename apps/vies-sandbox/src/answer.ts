import { z } from 'zod';

const milliseconds = z.number().int().min(0).max(600_000);
const status = z.number().int().min(200).max(599);
const common = {
  latency_ms: milliseconds.optional().describe('over the latency of the member state and the default'),
  retry_after: z
    .union([z.number().int().min(0), z.string()])
    .optional()
    .describe('the header Retry-After: seconds, or any text such as an HTTP date'),
};

/**
 * The forms in which errors of VIES have been recorded: `wrappers` (its REST service since 2022), `message` (the same with
 * an explanation), `user_error` (beside a flag that is always false, as its pages use it), `error` (a gateway's object)
 * and `text` (code and explanation as plain text).
 */
export const ERROR_FORMS = ['wrappers', 'message', 'user_error', 'error', 'text'] as const;

/** Answers that need no more than their name. */
const plainKinds = z.enum([
  'invalid',
  'vow_error',
  'half_json',
  'missing_valid',
  'valid_as_string',
  'false_with_error',
  'false_under_500',
  'empty',
  'reset',
  'cut',
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
    ...common,
  }),
  z.strictObject({
    kind: z.literal('error'),
    code: z.string(),
    status: status.optional().describe('500 for VOW-ERR-1, 400 for other VOW-ERR codes, else 200'),
    form: z.enum(ERROR_FORMS).optional(),
    message: z.string().optional().describe('over the explanation VIES gives, in the forms that have one'),
    ...common,
  }),
  z.strictObject({ kind: z.literal('html'), status: status.optional(), ...common }),
  z.strictObject({
    kind: z.literal('status'),
    status,
    body: z.union([z.string(), z.looseObject({})]).optional(),
    ...common,
  }),
  z.strictObject({ kind: plainKinds, ...common }),
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
