/** The setting that lets a started process run a TypeScript file directly. */
export const runsTypeScript = (): { NODE_OPTIONS: string } => ({
  NODE_OPTIONS: `--import=${import.meta.resolve('tsx')}`,
});
