/** What to do about a file in an encoding that we cannot be sure of, in the words of a spreadsheet's menu. */
export const SAVE_AS = 'Save the file as “CSV UTF-8”.';
