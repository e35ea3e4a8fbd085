// @ts-check
// `npm run dev`: the stack of `npm start`, but API and workers run from source and restart when a file changes.
process.argv.push('--development');
await import('./start.mjs');
