// SPDX-License-Identifier: Apache-2.0
//! Writes a sweep as jobs of a cluster: an indexed Job of Kubernetes and an array of Slurm, one task for each shard.

/// What a job runs.
pub(super) struct Job<'j> {
    /// The network file, as the command line has it.
    pub network: &'j str,
    /// The options that name seeds and change the run.
    pub options: &'j str,
    /// Tasks.
    pub shards: usize,
}

impl Job<'_> {
    /// A name of letters, digits and `-` (RFC 1123), from that of the file.
    fn name(&self) -> String {
        let path = std::path::Path::new(self.network);
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase());
        let stem = stem.unwrap_or_default();
        let clean: String = stem
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .take(40)
            .collect();
        format!("plane-{}", clean.trim_matches('-')).trim_end_matches('-').to_string()
    }

    /// The manifest of an indexed Job (batch/v1).
    pub(super) fn manifest(&self) -> String {
        let (name, shards) = (self.name(), self.shards);
        let command = format!(
            "plane net {} {} --shard auto/{shards} --results results/",
            quoted(self.network),
            self.options
        );
        let command = command.replace('\\', "\\\\").replace('"', "\\\"");
        format!(
            "# kubectl apply -f job.yaml
# The claim has the network file with all files that it names; each task writes its results there.
# When the job is done, run in the same folder: plane net merge results/*.json
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
spec:
  completionMode: Indexed
  completions: {shards}
  parallelism: {shards}
  backoffLimit: {shards}
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: plane
          # An image with plane, and with what controllers need.
          image: planewright
          workingDir: /work
          command: [\"sh\", \"-c\", \"{command}\"]
          resources:
            requests: {{cpu: \"1\", memory: 1Gi}}
          volumeMounts:
            - {{name: work, mountPath: /work}}
      volumes:
        - name: work
          persistentVolumeClaim: {{claimName: {name}}}
"
        )
    }

    /// The script of an array.
    pub(super) fn slurm_script(&self) -> String {
        let (name, shards) = (self.name(), self.shards);
        format!(
            "#!/bin/sh
# sbatch job.slurm
# When the array is done, run in the same folder: plane net merge results/*.json
#SBATCH --job-name={name}
#SBATCH --array=1-{shards}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
set -e
mkdir -p results
plane net {} {} --jobs \"${{SLURM_CPUS_PER_TASK:-1}}\" --shard auto --results results/
",
            quoted(self.network),
            self.options
        )
    }
}

/// A word of a shell.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words_are_quoted() {
        let job = Job { network: "a dir/My_net.yaml", options: "--seeds 1..4", shards: 4 };
        let manifest = job.manifest();
        assert!(manifest.contains("\n  name: plane-my-net\n"), "{manifest}");
        assert!(manifest.contains("plane net 'a dir/My_net.yaml' --seeds 1..4 --shard auto/4"));
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
