//! What packages are made of: the version, completions, manual pages, and the configurations in `deploy`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn tollgate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tollgate")).args(arguments).output().unwrap()
}

fn said(arguments: &[&str]) -> String {
    let output = tollgate(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn the_version_tells_the_commit_where_it_is_known() {
    let version = said(&["--version"]);
    let commit = version.trim_end().strip_prefix(concat!("tollgate ", env!("CARGO_PKG_VERSION"))).unwrap();
    if root().join(".git").exists() {
        let commit = commit.strip_prefix(" (").unwrap().strip_suffix(')').unwrap();
        assert!(commit.len() >= 12 && commit.bytes().all(|c| c.is_ascii_hexdigit()), "{version}");
    } else {
        assert_eq!(commit, "");
    }
}

#[test]
fn every_shell_has_completions_for_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = said(&["completions", shell]);
        for word in ["serve", "simulate", "completions", "take-over"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(tollgate(&["completions", "abacus"]).status.code(), Some(2));
}

#[test]
fn bash_takes_the_completions() {
    let script = said(&["completions", "bash"])
        + "\nCOMP_WORDS=(tollgate ser); COMP_CWORD=1; _tollgate tollgate ser tollgate; echo \"${COMPREPLY[@]}\"";
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "serve");
}

#[test]
fn there_is_a_page_for_the_program_and_for_every_command() {
    let page = said(&["man"]);
    assert!(page.starts_with(".ie") && page.contains(".TH tollgate 1"), "{page}");
    for command in ["serve", "demo", "check", "audit", "simulate"] {
        assert!(page.contains(&format!("tollgate\\-{command}(1)")), "{command} in {page}");
        let page = said(&["man", command]);
        assert!(page.contains(&format!(".TH tollgate-{command} 1")), "{page}");
    }
    let unknown = tollgate(&["man", "dance"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("serve"));
}

#[test]
fn the_configurations_that_are_deployed_are_valid() {
    let deploy = root().join("deploy");
    let folder = tempfile::tempdir().unwrap();
    let manifest = std::fs::read_to_string(deploy.join("kubernetes/tollgate.yaml")).unwrap();
    let inline: Vec<&str> = manifest
        .lines()
        .skip_while(|line| line.trim() != "tollgate.toml: |")
        .skip(1)
        .take_while(|line| *line != "---")
        .collect();
    assert!(inline.len() > 5, "{manifest}");
    let inline: Vec<&str> = inline.iter().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    let extracted = folder.path().join("tollgate.toml");
    std::fs::write(&extracted, inline.join("\n")).unwrap();
    for file in [deploy.join("docker/tollgate.toml"), deploy.join("debian/tollgate.toml"), extracted] {
        said(&["validate", file.to_str().unwrap()]);
    }
}
