/** Who asked has left, so nothing was done: no failure, and nobody to be told. */
export class CallerGone extends Error {
  override name = 'CallerGone';
}
