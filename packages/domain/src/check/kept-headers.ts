// What explains an answer later: what it was, when, who answered, when to come back, and the ids a help desk asks for.
// Cookies and anything else that could carry a secret stay out of the evidence.
const KEPT =
  /^(?:content-(?:type|length|encoding)|date|age|retry-after|server|via|cf-ray|traceparent|x-(?:[a-z0-9-]+-)?(?:request|correlation|trace|transaction)-?id)$/;
const LONGEST_VALUE = 500;

/** The answer's headers that belong into an exchange, lower-case names, values cut at 500 characters. */
export const keptHeaders = (headers: Record<string, string | string[] | undefined>): Record<string, string> => {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || !KEPT.test(name)) continue;
    kept[name] = (Array.isArray(value) ? value.join(', ') : value).slice(0, LONGEST_VALUE);
  }
  return kept;
};
