// @ts-check
// `node scripts/docs.mjs` generates docs from the code; with `--check` it fails if one of them is outdated.
// `npm run check` runs it after the build.
import { readFileSync, writeFileSync } from 'node:fs';
import { ERROR_CATALOGUE, LINE_ENDINGS, LINE_ERROR_CODES } from '@vat/domain';
import { SECRET_SETTINGS, SETTINGS } from '@vat/runtime';

/** Generates docs/errors.md from the error catalogue. */
const errorsPage = () => {
  const answers = Object.entries(ERROR_CATALOGUE).filter(([, spec]) => !('lineOnly' in spec));
  const rows = answers.map(([code, spec]) => {
    const extra = 'extra' in spec ? spec.extra.map((/** @type {string} */ name) => `\`${name}\``).join(', ') : '';
    return `| \`${code}\` | ${spec.status} | ${spec.message} | ${spec.remedy} | ${extra} | ${'retryable' in spec ? 'yes' : 'no'} |`;
  });
  /** @param {readonly string[]} codes */
  const listed = (codes) => codes.map((code) => `\`${code}\``).join(', ');
  /** @type {Record<string, {message: string}>} */
  const messages = { ...ERROR_CATALOGUE, ...LINE_ENDINGS };
  const isAnswer = (/** @type {string} */ code) => answers.some(([other]) => other === code);
  const ofLines = LINE_ERROR_CODES.filter((code) => !isAnswer(code));
  return `# Errors

Made from \`packages/domain/src/errors.ts\` by \`node scripts/docs.mjs\`; do not edit.

Every error is \`{ "error": { "code", "message", … } }\`; extra fields lie inside \`error\`. \`retry_after\` is in seconds and is sent
as a \`Retry-After\` header too. "Again" says whether the very same call can succeed later.

| code | HTTP | what happened | what to do | extra fields | again |
|---|---|---|---|---|---|
${rows.join('\n')}

## Errors of lines

A line of a file that ended without a check has \`error\`, with \`code\` and \`message\`. The code is one of the table above
(${listed(LINE_ERROR_CODES.filter(isAnswer))}) or one that no call is answered with.
[batches.md](batches.md#the-lines) explains all of them.

| code | what happened |
|---|---|
${ofLines.map((code) => `| \`${code}\` | ${messages[code]?.message} |`).join('\n')}

\`reason\` of an abandoned request is ${listed(Object.keys(LINE_ENDINGS))}.
`;
};

/** The default value as written in the environment. zod stores it on the outermost wrapper. @param {any} schema */
const defaultOf = (schema) => {
  for (let inner = schema; inner; inner = inner.def?.innerType ?? inner.def?.in) {
    if (inner.def?.type === 'default' || inner.def?.type === 'prefault') return `\`${inner.def.defaultValue}\``;
    if (inner.def?.type === 'optional') return '';
  }
  return 'required';
};

/** Breaks a paragraph into lines of at most 130 characters. @param {string} text */
const wrap = (text) => text.replaceAll(/(.{1,130})(?: |$)/g, '$1\n').trimEnd();

/** Generates docs/settings.md from the declarations of the settings. */
const settingsPage = () => {
  const rows = Object.entries(SETTINGS).map(
    ([name, { schema, readBy, meaning }]) =>
      `| \`${name}\` | ${defaultOf(schema)} | ${readBy.join(', ')} | ${meaning} |`,
  );
  return `# Settings

Made from \`packages/runtime/src/setting-table.ts\` by \`node scripts/docs.mjs\`; do not edit.

Everything is set through environment variables. Durations are written \`250ms\`, \`10s\`, \`2m\`, \`1h\`; an empty value counts
as unset. A wrong value ends a process that reads it at start, with one message that names it. The exit code is 78 of the API and
of a worker, 1 of \`npm start\` and of the admin command.

${wrap(
  `Each setting that holds a secret (${SECRET_SETTINGS.map((name) => `\`${name}\``).join(', ')}) can be read from a file instead: ` +
    '`NAME_FILE` names the file, as Docker and Kubernetes mount secrets. A line break at its end is not part of the secret. `NAME` and ' +
    '`NAME_FILE` together are an error, and so is the `NAME_FILE` of any other setting.',
)}

| setting | default | read by | meaning |
|---|---|---|---|
${rows.join('\n')}
`;
};

/** @type {Record<string, () => string>} */
const PAGES = {
  'docs/settings.md': settingsPage,
  'docs/errors.md': errorsPage,
};

/** @param {string} file */
const read = (file) => {
  try {
    return readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  } catch {
    return '';
  }
};

const outdated = [];
for (const [file, page] of Object.entries(PAGES)) {
  const text = page();
  if (read(file) === text) continue;
  outdated.push(file);
  if (!process.argv.includes('--check')) writeFileSync(new URL(`../${file}`, import.meta.url), text);
}

if (outdated.length > 0 && process.argv.includes('--check')) {
  console.error(`${outdated.join(' and ')} differ from the code. Run \`node scripts/docs.mjs\`.`);
  process.exitCode = 1;
}
