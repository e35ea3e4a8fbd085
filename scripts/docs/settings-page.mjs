// @ts-check

/** The default value as written in the environment. zod stores it on the outermost wrapper. @param {any} schema */
const defaultOf = (schema) => {
  for (let inner = schema; inner; inner = inner.def?.innerType ?? inner.def?.in) {
    if (inner.def?.type === 'default' || inner.def?.type === 'prefault') return `\`${inner.def.defaultValue}\``;
    if (inner.def?.type === 'optional') return '';
  }
  return 'required';
};

/** Generates docs/settings.md from the declarations of the settings. */
export const settingsPage = async () => {
  const { SECRET_SETTINGS, SETTINGS } = await import('@vat/runtime');
  const rows = Object.entries(SETTINGS).map(
    ([name, { schema, readBy, meaning }]) =>
      `| \`${name}\` | ${defaultOf(schema)} | ${readBy.join(', ')} | ${meaning} |`,
  );
  return `# Settings

Made from \`packages/runtime/src/setting-table.ts\` by \`node scripts/docs.mjs\`; do not edit.

Everything is set through environment variables. Durations are written \`250ms\`, \`10s\`, \`2m\`, \`1h\`; an empty value counts
as unset. A wrong value ends a process that reads it at start, with one message that names it.

Each setting that holds a secret (${SECRET_SETTINGS.map((name) => `\`${name}\``).join(', ')}) can be read from a file instead:
\`NAME_FILE\` names the file, as Docker and Kubernetes mount secrets. A line break at its end is not part of the secret. \`NAME\` and
\`NAME_FILE\` together are an error.

| setting | default | read by | meaning |
|---|---|---|---|
${rows.join('\n')}
`;
};
