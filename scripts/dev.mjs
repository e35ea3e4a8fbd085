// @ts-check
// `npm run dev`: the same stack, with the API and the workers running from source and starting again when a file changes.
process.argv.push('--development');
await import('./start.mjs');
