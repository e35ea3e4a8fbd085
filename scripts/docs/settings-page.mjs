// @ts-check

/** @param {any} schema The default as it is written in the environment; zod keeps it on the outermost wrapper that has one. */
const defaultOf = (schema) => {
  for (let inner = schema; inner; inner = inner.def?.innerType ?? inner.def?.in) {
    if (inner.def?.type === 'default' || inner.def?.type === 'prefault') return `\`${inner.def.defaultValue}\``;
    if (inner.def?.type === 'optional') return '';
  }
  return 'required';
};

/** docs/settings.md, from the one place where settings are declared. */
export const settingsPage = async () => {
  const { SETTINGS } = await import('@vat/runtime');
  const rows = Object.entries(SETTINGS).map(
    ([name, schema]) => `| \`${name}\` | ${defaultOf(schema)} | ${schema.description ?? ''} |`,
  );
  return `# Settings

Made from \`packages/runtime/src/settings.ts\` by \`node scripts/docs.mjs\`; do not edit.

Everything is set through environment variables. Durations are written \`250ms\`, \`10s\`, \`2m\`, \`1h\`; an empty value counts
as unset. A wrong value ends a process that reads it at start, with one message that names it.

| setting | default | meaning |
|---|---|---|
${rows.join('\n')}
`;
};
