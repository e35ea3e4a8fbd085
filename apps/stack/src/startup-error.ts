/** Something the person at the terminal has to put right; its message is all they are shown. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
