/** Never in a box, whoever passes them on: ways to talk to the user's other programs, and names of places that are hidden there. */
export const unboxedVariables: readonly string[] = [
  "SSH_AUTH_SOCK SSH_AGENT_PID SSH_ASKPASS GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR DISPLAY WAYLAND_DISPLAY",
  "XAUTHORITY DOCKER_HOST CONTAINER_HOST TMUX STY SESSION_MANAGER GNOME_KEYRING_CONTROL VSCODE_IPC_HOOK_CLI GIT_ASKPASS",
  "VSCODE_GIT_IPC_HANDLE VSCODE_GIT_ASKPASS_MAIN VSCODE_GIT_ASKPASS_NODE BASH_ENV ENV OUTRIDER_HOME KUBECONFIG",
].flatMap((line) => line.split(" "));
