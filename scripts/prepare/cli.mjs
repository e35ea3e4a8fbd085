// @ts-check
// Runs only the preparation steps of `npm start`, for building an image.
import { prepareOrExit } from '../prepare.mjs';

await prepareOrExit();
