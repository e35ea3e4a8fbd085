// @ts-check
// The steps of `npm start` before it starts anything, by themselves: for building an image.
import { prepare } from '../prepare.mjs';

await prepare().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
