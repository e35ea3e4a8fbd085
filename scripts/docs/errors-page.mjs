// @ts-check

/** Generates docs/errors.md from the error catalogue. */
export const errorsPage = async () => {
  const { ERROR_CATALOGUE } = await import('@vat/domain');
  const rows = Object.entries(ERROR_CATALOGUE).map(([code, spec]) => {
    const extra = 'extra' in spec ? spec.extra.map((/** @type {string} */ name) => `\`${name}\``).join(', ') : '';
    return `| \`${code}\` | ${spec.status} | ${spec.message} | ${spec.remedy} | ${extra} | ${'retryable' in spec ? 'yes' : 'no'} |`;
  });
  return `# Errors

Made from \`packages/domain/src/errors.ts\` by \`node scripts/docs.mjs\`; do not edit.

Every error is \`{ "error": { "code", "message", … } }\`; extra fields lie inside \`error\`. \`retry_after\` is in seconds and is sent
as a \`Retry-After\` header too. "Again" says whether the very same call can succeed later.

| code | HTTP | what happened | what to do | extra fields | again |
|---|---|---|---|---|---|
${rows.join('\n')}
`;
};
