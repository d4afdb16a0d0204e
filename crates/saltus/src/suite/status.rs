//! What a test of one model can come to.

/// From the worst to the best: a change to a smaller one is a step back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Status {
    /// The model was to be run, and it was not: it does not exist, or the run was interrupted.
    Missing,
    /// The model does not compile.
    Wrong,
    /// The simulation ended early.
    Failed,
    /// The model was to fail (`TestCase(shouldPass = false)`), and it did not.
    Unexpected,
    /// Some signal differs from the reference.
    Different,
    /// Passes every check; it was not simulated.
    Checked,
    /// Ran to the end; there is no reference.
    Simulated,
    /// Ran to the end, and all signals of the reference agree.
    Verified,
    /// The model was to fail, and it did.
    Refused,
}

impl Status {
    /// In the order of reports: good ones first.
    pub const ALL: [Status; 9] = [
        Status::Verified,
        Status::Simulated,
        Status::Checked,
        Status::Refused,
        Status::Different,
        Status::Unexpected,
        Status::Failed,
        Status::Wrong,
        Status::Missing,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Status::Missing => "missing",
            Status::Wrong => "wrong",
            Status::Failed => "failed",
            Status::Unexpected => "unexpected",
            Status::Different => "different",
            Status::Checked => "checked",
            Status::Simulated => "simulated",
            Status::Verified => "verified",
            Status::Refused => "refused",
        }
    }

    pub fn from_name(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|s| s.name() == name)
    }

    pub fn is_good(self) -> bool {
        self >= Status::Checked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_one_status_each() {
        for status in Status::ALL {
            assert_eq!(Status::from_name(status.name()), Some(status));
        }
        assert_eq!(Status::from_name("else"), None);
    }
}
