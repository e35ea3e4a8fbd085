/** A function that calls `create` once, at its first call: for tables that are too large to build on import. */
export const once = <T>(create: () => T): (() => T) => {
  let created: { value: T } | null = null;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
};
