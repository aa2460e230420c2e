"""flowcontrol: FlowSchemas and PriorityLevelConfigurations, for API Priority and Fairness."""
