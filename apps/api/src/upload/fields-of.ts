import { refuseUpload } from './refuse-upload.js';
import type { Upload } from './upload.js';

/** The fields of a form and of the query together, not yet judged. Throws BAD_REQUEST for one that is in both. */
export const fieldsOf = ({ fields }: Pick<Upload, 'fields'>, query: object): Record<string, unknown> => {
  const twice = Object.keys(fields).find((name) => Object.hasOwn(query, name));
  if (twice !== undefined) throw refuseUpload(twice, `${twice} is sent in the form and in the query`);
  return { ...query, ...fields };
};
