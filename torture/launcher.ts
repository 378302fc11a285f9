/** An executable file to be tested in place of the build, such as the standalone command. */
const tested = process.env["OUTRIDER_TEST_COMMAND"];
export const isStandalone: boolean = tested !== undefined;
/** What the command is given to. */
export const launcher: string = isStandalone ? "/usr/bin/env" : process.execPath;
