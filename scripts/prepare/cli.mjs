// @ts-check
// Runs only the preparation steps of `npm start`, for building an image.
import { prepare } from '../prepare.mjs';

await prepare().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
