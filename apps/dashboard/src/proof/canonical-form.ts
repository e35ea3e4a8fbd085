/**
 * The RFC 8785 form of a value of the hash profile `jcs-sha256-v1`, whose keys are `[a-z0-9_]` and whose numbers are
 * integers: there, sorting by code unit and the language's own serialising of texts and numbers are the canonical ones.
 */
export const canonicalForm = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalForm).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalForm(member)}`);
  return `{${members.join(',')}}`;
};
